internal import CoreAPI
internal import Platform
internal import Synchronization

/// The functions of GMime 3 that reading a message needs, by their purpose.
///
/// GMime is loaded only in a process that runs a core: a program that only links this module needs neither the library
/// nor memory for it. The functions may be called on any thread as long as an object stays on one.
struct MimeLibrary: Sendable {
    /// An object of the library: a counted reference to a GObject, or a pointer into one.
    typealias Object = OpaquePointer
    typealias Text = UnsafePointer<CChar>
    typealias OwnedText = UnsafeMutablePointer<CChar>

    // GObject.
    let release: @Sendable @convention(c) (Object) -> Void
    let freeText: @Sendable @convention(c) (OwnedText) -> Void
    let isInstance: @Sendable @convention(c) (Object, UInt) -> Int32
    let leafType: UInt

    // Streams.
    let openFileStream: @Sendable @convention(c) (Int32, Int64, Int64) -> Object?
    let setFileStreamOwner: @Sendable @convention(c) (Object, Int32) -> Void
    let makeBufferStream: @Sendable @convention(c) (Text, Int) -> Object?
    let makeFilterStream: @Sendable @convention(c) (Object) -> Object?
    let addFilter: @Sendable @convention(c) (Object, Object) -> Int32
    let makeCharacterSetFilter: @Sendable @convention(c) (Text, Text) -> Object?
    let makeDecodingFilter: @Sendable @convention(c) (Int32, Int32) -> Object?
    let isAtEnd: @Sendable @convention(c) (Object) -> Int32
    let readStream: @Sendable @convention(c) (Object, OwnedText, Int) -> Int

    // Messages.
    let makeParser: @Sendable @convention(c) (Object) -> Object?
    let parseMessage: @Sendable @convention(c) (Object, Object?) -> Object?
    let sender: @Sendable @convention(c) (Object) -> Object?
    let recipient: @Sendable @convention(c) (Object) -> Object?
    let addressCount: @Sendable @convention(c) (Object) -> Int32
    let addressText: @Sendable @convention(c) (Object, Object?, Int32) -> OwnedText?
    let date: @Sendable @convention(c) (Object) -> Object?
    let unixTime: @Sendable @convention(c) (Object) -> Int64
    let rootPart: @Sendable @convention(c) (Object) -> Object?

    // Headers.
    let headerList: @Sendable @convention(c) (Object) -> Object?
    let header: @Sendable @convention(c) (Object, Text) -> Object?
    let rawHeaderValue: @Sendable @convention(c) (Object) -> Text?
    let decodeHeaderText: @Sendable @convention(c) (Object?, Text) -> OwnedText?

    // Parts.
    let contentType: @Sendable @convention(c) (Object) -> Object?
    let mediaType: @Sendable @convention(c) (Object) -> Text?
    let mediaSubtype: @Sendable @convention(c) (Object) -> Text?
    let isAttachment: @Sendable @convention(c) (Object) -> Int32
    let contentEncoding: @Sendable @convention(c) (Object) -> Int32

    /// The encodings that must be decoded: base64, quoted-printable and uuencode.
    ///
    /// Source: `GMimeContentEncoding` in gmime-encodings.h.
    static let decodedEncodings: ClosedRange<Int32> = 4...6

    /// Loads the library under a name and initializes it.
    ///
    /// - Throws: ``SharedCoreError/Code/unavailable`` when it is not installed. The message names the package that
    ///   contains it.
    init(named name: String) throws(SharedCoreError) {
        let library = try DynamicLibrary(
            named: name, remedy: "install GMime 3, which reads the messages (Debian: apt install libgmime-3.0-0)")

        release = try library.function("g_object_unref")
        freeText = try library.function("g_free")
        isInstance = try library.function("g_type_check_instance_is_a")

        openFileStream = try library.function("g_mime_stream_fs_new_with_bounds")
        setFileStreamOwner = try library.function("g_mime_stream_fs_set_owner")
        makeBufferStream = try library.function("g_mime_stream_mem_new_with_buffer")
        makeFilterStream = try library.function("g_mime_stream_filter_new")
        addFilter = try library.function("g_mime_stream_filter_add")
        makeCharacterSetFilter = try library.function("g_mime_filter_charset_new")
        makeDecodingFilter = try library.function("g_mime_filter_basic_new")
        isAtEnd = try library.function("g_mime_stream_eos")
        readStream = try library.function("g_mime_stream_read")

        makeParser = try library.function("g_mime_parser_new_with_stream")
        parseMessage = try library.function("g_mime_parser_construct_message")
        sender = try library.function("g_mime_message_get_from")
        recipient = try library.function("g_mime_message_get_to")
        addressCount = try library.function("internet_address_list_length")
        addressText = try library.function("internet_address_list_to_string")
        date = try library.function("g_mime_message_get_date")
        unixTime = try library.function("g_date_time_to_unix")
        rootPart = try library.function("g_mime_message_get_mime_part")

        headerList = try library.function("g_mime_object_get_header_list")
        header = try library.function("g_mime_header_list_get_header")
        rawHeaderValue = try library.function("g_mime_header_get_raw_value")
        decodeHeaderText = try library.function("g_mime_utils_header_decode_text")

        contentType = try library.function("g_mime_object_get_content_type")
        mediaType = try library.function("g_mime_content_type_get_media_type")
        mediaSubtype = try library.function("g_mime_content_type_get_media_subtype")
        isAttachment = try library.function("g_mime_part_is_attachment")
        contentEncoding = try library.function("g_mime_part_get_content_encoding")

        typealias Initialize = @convention(c) () -> Void
        typealias TypeNumber = @convention(c) () -> UInt
        try library.function("g_mime_init", as: Initialize.self)()
        leafType = try library.function("g_mime_part_get_type", as: TypeNumber.self)()
    }

    /// Returns the library of this process, loaded at the first call. A failure is not kept: the next call tries again.
    static func shared() throws(SharedCoreError) -> MimeLibrary {
        try loaded.withLock { loaded throws(SharedCoreError) in
            if let library = loaded { return library }
            let library = try MimeLibrary(named: "libgmime-3.0.so.0")
            loaded = library
            return library
        }
    }

    private static let loaded = Mutex<MimeLibrary?>(nil)

    /// Copies and frees a text that the library allocated.
    func take(_ text: OwnedText?) -> String? {
        guard let text else { return nil }
        defer { freeText(text) }
        return String(cString: text)
    }
}
