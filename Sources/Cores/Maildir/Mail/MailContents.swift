internal import Coordination
internal import Platform

/// The shown content of a message: one part, as it is in the file.
struct MailContent {
    let part: MimePart
    /// True if a header names the content type of the part.
    let isTyped: Bool
    let file: OpenFile
    let range: Range<Int>
    /// The maximum number of decoded bytes, plus one that shows that there are more.
    let limit: Int

    /// Returns its content without the transfer encoding, as ``MimePart/decoded(_:of:upTo:from:)`` decodes it.
    func decoded(from characterSet: String? = nil) -> [UInt8]? {
        part.decoded(range, of: file, upTo: limit + 1, from: characterSet)
    }
}

/// Walks through the parts of a message in the order of the file, and keeps none.
///
/// Only the ``MailHead`` of a part is in memory, so the memory does not depend on the number of parts, headers and
/// bytes. The walk ends as soon as the shown part is known.
///
/// Source: RFC 2046, 5.1.1.
struct MailContents {
    /// The goal of the search.
    enum Goal {
        /// The text to show: of alternatives the plainest one, of other multiparts the first one.
        case text
        /// The first part of a content type.
        case document(String)

        func isMet(by part: MimePart, type: String) -> Bool {
            switch self {
            case .text: type.hasPrefix("text/") && !part.isAttachment
            case .document(let wanted): type == wanted
            }
        }
    }

    /// A multipart.
    private struct Level {
        /// The beginning of the lines between its parts.
        let boundary: [UInt8]
        let isAlternative: Bool
        let isDigest: Bool
    }

    /// A line that ends a part.
    private struct Mark {
        /// The index of the multipart to which the boundary belongs.
        let level: Int
        /// True if no part follows.
        let isLast: Bool
        let start: Int
    }

    private let lines: MailLines
    private let library: MimeLibrary
    private let limits: MailLimits
    /// The multiparts around the present place, outermost first.
    private var levels: [Level] = []
    /// The part to show if no plainer one follows, and the index of the multipart of which it is an alternative.
    private var candidate: (content: MailContent, level: Int)?
    /// The line at which reading stopped; nil within a part.
    private var mark: Mark?
    private var partCount = 0

    init(_ file: OpenFile, byteCount: Int, library: MimeLibrary, limits: MailLimits) {
        lines = MailLines(file, byteCount: min(byteCount, limits.messageByteCount))
        self.library = library
        self.limits = limits
    }

    /// Reads the headers at this place, and stops after them.
    mutating func readHead(keeping names: Set<String>) throws(MailRefusal) -> MailHead {
        var head = MailHead()
        mark = nil
        while let line = try next(), !line.isEmpty {
            mark = matching(line)
            if mark != nil { break }
            head.add(line.bytes, keeping: names, upTo: limits.fieldByteCount)
        }
        return head
    }

    /// Searches for a part after the headers that were read last.
    ///
    /// - Parameter head: Those headers.
    mutating func find(_ goal: Goal, under head: MailHead) throws(MailRefusal) -> MailContent? {
        var next: MailHead? = head
        while let head = next {
            if let content = try enter(head, lookingFor: goal), let shown = settle(content) { return shown }
            next = nil
            while next == nil, let inner = levels.indices.last {
                // Skips lines before the first part, in a part that is not shown, or after the parts of a multipart.
                while mark.map({ $0.level > inner }) ?? true {
                    mark = try skip()
                    guard mark != nil else { return candidate?.content }
                }
                if let mark, mark.level == inner, !mark.isLast {
                    partCount += 1
                    guard partCount <= limits.partCount else { throw MailRefusal(.tooIntricate) }
                    next = try readHead(keeping: MailHead.ofParts)
                } else {
                    levels.removeLast()
                    guard let candidate, candidate.level == inner else { continue }
                    self.candidate = nil
                    if let shown = settle(candidate.content) { return shown }
                }
            }
        }
        return nil
    }

    /// Handles the headers of a part.
    ///
    /// - Returns: The part, if it is the one that is searched.
    private mutating func enter(_ head: MailHead, lookingFor goal: Goal) throws(MailRefusal) -> MailContent? {
        guard levels.count <= limits.nesting else { throw MailRefusal(.nestedTooDeep(maximum: limits.nesting)) }
        guard let part = MimeMessage(head, library: library)?.root else { return nil }
        // A digest contains messages, unless the part declares another type (RFC 2046, 5.1.5).
        let isMessage = levels.last?.isDigest == true && head.value("content-type") == nil
        let type = isMessage ? "message/rfc822" : part.contentType
        if goal.isMet(by: part, type: type) {
            let start = lines.position
            if mark == nil, !levels.isEmpty { mark = try skip() }
            let end = if let mark { try contentEnd(before: mark) } else { lines.end }
            return MailContent(
                part: part, isTyped: head.value("content-type") != nil, file: lines.file, range: min(start, end)..<end,
                limit: limits.decodedByteCount)
        }
        guard type.hasPrefix("multipart/"), let boundary = part.boundary else { return nil }
        levels.append(
            Level(
                boundary: Array("--".utf8) + boundary, isAlternative: type == "multipart/alternative",
                isDigest: type == "multipart/digest"))
        return nil
    }

    /// Ends the multiparts of which a part is shown.
    ///
    /// - Returns: The part, if it is the one to show; nil if a plainer alternative may follow.
    private mutating func settle(_ content: MailContent) -> MailContent? {
        while let level = levels.last {
            if level.isAlternative, content.part.contentType != "text/plain" {
                // Without a plain alternative, the first part of the outermost multipart is shown.
                candidate = candidate ?? (content, levels.count - 1)
                return nil
            }
            levels.removeLast()
        }
        return content
    }

    private func next() throws(MailRefusal) -> MailLines.Line? {
        do throws(SystemCallError) {
            return try lines.next()
        } catch {
            throw MailRefusal(.unreadable(error.text))
        }
    }

    /// Reads to the next line that ends a part; nil at the end of the file.
    private func skip() throws(MailRefusal) -> Mark? {
        while let line = try next() {
            if let mark = matching(line) { return mark }
        }
        return nil
    }

    /// Returns the boundary of a line, the innermost first; nil if it is no boundary.
    private func matching(_ line: MailLines.Line) -> Mark? {
        guard !levels.isEmpty, line.bytes.starts(with: "--".utf8) else { return nil }
        var count = line.bytes.count
        while count > 0, MailText.isSpace(line.bytes[count - 1]) { count -= 1 }
        // Compare without allocations: a file may have millions of such lines, and a hundred levels.
        var level = levels.count
        while level > 0 {
            level -= 1
            let boundary = levels[level].boundary
            let rest = count - boundary.count
            guard rest == 0 || rest == 2, line.bytes.begins(with: boundary) else { continue }
            guard rest == 0 || line.bytes[boundary.count..<count].elementsEqual("--".utf8) else { continue }
            return Mark(level: level, isLast: rest == 2, start: line.start)
        }
        return nil
    }

    /// Returns the end of the content before a boundary: the preceding line end belongs to the boundary.
    private func contentEnd(before mark: Mark) throws(MailRefusal) -> Int {
        let count = min(2, mark.start)
        do throws(SystemCallError) {
            let last = try lines.file.read(count: count, at: mark.start - count)
            guard last.last == UInt8(ascii: "\n") else { return mark.start }
            return mark.start - (last.first == UInt8(ascii: "\r") ? 2 : 1)
        } catch {
            throw MailRefusal(.unreadable(error.text))
        }
    }
}
