internal import Platform

/// Sets of bells in a page that processes share: four words, each of which is read and changed atomically.
extension MappedPage {
    func bells(at offset: Int) -> Bells {
        var words = Bells.Words.zero
        for word in words.indices { words[word] = load(at: offset + word * 8) }
        return Bells(words: words)
    }

    func insert(_ bells: Bells, at offset: Int) {
        for word in bells.words.indices where bells.words[word] != 0 {
            insert(bells.words[word], at: offset + word * 8)
        }
    }

    func remove(_ bells: Bells, at offset: Int) {
        for word in bells.words.indices where bells.words[word] != 0 {
            while true {
                let known = load(at: offset + word * 8)
                if replace(known, with: known & ~bells.words[word], at: offset + word * 8) { break }
            }
        }
    }
}
