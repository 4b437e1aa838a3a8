internal import ArgumentParser

/// `mailbox`: messages that wait for whoever comes.
struct MailboxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mailbox", abstract: "Pass messages to other processes, also to those that come later.",
        discussion: """
            A mailbox keeps the last message; with --queue it keeps all of them until each is taken. Messages are JSON.
            """,
        subcommands: [
            MailboxSend.self, MailboxRead.self, MailboxListen.self, MailboxTake.self, MailboxClear.self,
            MailboxClearAll.self,
        ])
}
