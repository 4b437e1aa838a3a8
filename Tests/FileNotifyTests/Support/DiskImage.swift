internal import Glibc
internal import Platform

/// The files of one directory, as they lie on a disk or would if everything were written out.
struct DiskImage {
    static let pageByteCount = 4_096

    /// One change of one page: the whole content after it.
    struct Page {
        let file: UInt64
        let index: Int
        /// The least size of the file when this page is there.
        let end: Int
        let content: [UInt8]
        /// Tells contents apart.
        let digest: Int

        init(file: UInt64, index: Int, end: Int, content: [UInt8]) {
            self.file = file
            self.index = index
            self.end = end
            self.content = content
            var hasher = Hasher()
            hasher.combine(index)
            content.withUnsafeBytes { hasher.combine(bytes: $0) }
            digest = hasher.finalize()
        }
    }

    /// One change that can be lost with the power.
    enum Change {
        case page(Page)
        case extended(file: UInt64, byteCount: Int)
        case named(String, file: UInt64)
        case renamed(String, to: String)
        case removed(String)

        /// The file whose sync makes the change durable; nil if the sync of the directory does.
        var file: UInt64? {
            switch self {
            case .page(let page): page.file
            case .extended(let file, _): file
            case .named, .renamed, .removed: nil
            }
        }
    }

    struct File {
        var byteCount = 0
        var pages: [Int: Page] = [:]
    }

    private(set) var names: [String: UInt64] = [:]
    private var files: [UInt64: File] = [:]

    mutating func apply(_ change: Change) {
        switch change {
        case .page(let page):
            files[page.file, default: File()].pages[page.index] = page
            extend(page.file, to: page.end)
        case .extended(let file, let byteCount): extend(file, to: byteCount)
        case .named(let name, let file): names[name] = file
        case .renamed(let old, let new): names[new] = names.removeValue(forKey: old)
        case .removed(let name): names[name] = nil
        }
    }

    private mutating func extend(_ file: UInt64, to byteCount: Int) {
        files[file, default: File()].byteCount = max(files[file]?.byteCount ?? 0, byteCount)
    }

    /// Forgets a file when another one has got its number.
    mutating func forget(_ file: UInt64) {
        files[file] = nil
    }

    /// The pages that a write changes, each as it is afterwards.
    func pages(of file: UInt64, writing bytes: [UInt8], at offset: Int) -> [Page] {
        guard !bytes.isEmpty else { return [] }
        let size = Self.pageByteCount
        let end = offset + bytes.count
        return (offset / size...(end - 1) / size).map { index in
            var content = files[file]?.pages[index]?.content ?? [UInt8](repeating: 0, count: size)
            let part = max(offset, index * size)..<min(end, (index + 1) * size)
            content.replaceSubrange(
                part.lowerBound - index * size..<part.upperBound - index * size,
                with: bytes[part.lowerBound - offset..<part.upperBound - offset])
            return Page(file: file, index: index, end: part.upperBound, content: content)
        }
    }

    /// A digest that distinguishes images by the content that a process would find.
    var digest: Int {
        var digest = 0
        for (name, number) in names {
            var hasher = Hasher()
            hasher.combine(name)
            let file = files[number] ?? File()
            hasher.combine(file.byteCount)
            var content = 0
            for page in file.pages.values { content ^= page.digest }
            hasher.combine(content)
            digest ^= hasher.finalize()
        }
        return digest
    }

    /// Writes the files into a new directory.
    func write(to path: String) throws {
        guard mkdir(path, 0o700) == 0 else { throw SystemCallError("mkdir", number: errno, at: path) }
        let directory = try Directory(path: path)
        for (name, number) in names.sorted(by: { $0.key < $1.key }) {
            let file = try OpenFile(name, in: directory, .createNew)
            guard let image = files[number] else { continue }
            for page in image.pages.values {
                let offset = page.index * Self.pageByteCount
                try file.write(Array(page.content.prefix(image.byteCount - offset)), at: offset)
            }
            try file.truncate(to: image.byteCount)
        }
    }
}
