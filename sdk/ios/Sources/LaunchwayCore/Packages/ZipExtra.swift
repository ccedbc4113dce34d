// The extra fields of an entry (APPNOTE 4.5), as far as they matter: numbers of ZIP64, and a second name.

struct ZipExtra {
    private static let wideId = 0x0001
    private static let unicodeNameId = 0x7075
    /// The placeholder for a number in the extra fields.
    private static let elsewhere = 0xffff_ffff

    private var wide: ZipBytes?
    private var unicodeName: [UInt8]?

    /// Nil if a field is cut off, or a relevant one is repeated. Up to three bytes at the end may be padding.
    init?(_ bytes: [UInt8]) {
        var fields = ZipBytes(bytes)
        while fields.left >= 4 {
            let id = fields.u16()
            let length = fields.u16()
            if length > fields.left {
                return nil
            }
            let data = fields.take(length)
            if id == ZipExtra.wideId {
                if wide != nil {
                    return nil
                }
                wide = ZipBytes(data)
            } else if id == ZipExtra.unicodeNameId {
                if unicodeName != nil {
                    return nil
                }
                unicodeName = data
            }
        }
    }

    /// Whether there is a second name, which some readers prefer, that differs from this one.
    func hasOtherName(than name: [UInt8]) -> Bool {
        guard let second = unicodeName else {
            return false
        }
        // It is preceded by a version and the checksum of the first name.
        return second.count < 5 || Array(second[5...]) != name
    }

    /// The value of a regular field, read from here if it is the placeholder, in the order of the fields that refer to here;
    /// nil if it is missing.
    mutating func number(_ field: Int) -> Int? {
        if field != ZipExtra.elsewhere {
            return field
        }
        guard let left = wide?.left, left >= 8 else {
            return nil
        }
        return wide?.u64()
    }
}
