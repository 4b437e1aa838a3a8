internal import GRDB

/// The tables of a group. All numbers of the contract are unsigned and stand as the signed number of the same bits.
enum Schema {
    static let version = 1

    static func create(in database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE state (
                    id INTEGER PRIMARY KEY CHECK (id = 0), version INTEGER NOT NULL, boot BLOB NOT NULL,
                    revision INTEGER NOT NULL, byteCount INTEGER NOT NULL,
                    floor INTEGER NOT NULL, historyByteCount INTEGER NOT NULL);
                CREATE TABLE session (
                    id INTEGER PRIMARY KEY, role TEXT NOT NULL, name TEXT NOT NULL, boot BLOB NOT NULL,
                    pid INTEGER NOT NULL, startTime INTEGER NOT NULL, openedAt INTEGER NOT NULL);
                CREATE TABLE entry (
                    key BLOB PRIMARY KEY, value BLOB NOT NULL, revision INTEGER NOT NULL, creation INTEGER NOT NULL,
                    lifetime INTEGER NOT NULL, duration INTEGER NOT NULL, due INTEGER, origin INTEGER NOT NULL
                ) WITHOUT ROWID;
                CREATE INDEX entryByDue ON entry (due) WHERE due IS NOT NULL;
                CREATE INDEX entryBySession ON entry (origin) WHERE lifetime = 1;
                CREATE TABLE topic (
                    name BLOB PRIMARY KEY, state INTEGER NOT NULL, count INTEGER NOT NULL, revision INTEGER NOT NULL,
                    origin INTEGER NOT NULL
                ) WITHOUT ROWID;
                CREATE TABLE change (
                    revision INTEGER NOT NULL, place INTEGER NOT NULL, author INTEGER NOT NULL, key BLOB NOT NULL,
                    kind INTEGER NOT NULL,
                    oldValue BLOB, oldRevision INTEGER, oldCreation INTEGER, oldLifetime INTEGER, oldDuration INTEGER,
                    oldOrigin INTEGER,
                    newValue BLOB, newRevision INTEGER, newCreation INTEGER, newLifetime INTEGER, newDuration INTEGER,
                    newOrigin INTEGER,
                    PRIMARY KEY (revision, place)
                ) WITHOUT ROWID;
                """)
    }
}
