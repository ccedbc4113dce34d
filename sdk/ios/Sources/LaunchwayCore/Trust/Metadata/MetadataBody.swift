// What files of one type of metadata say beyond the fields that all types share.

protocol MetadataBody {
    /// The value of `_type`.
    static var type: String { get }
    /// The most bytes that a file of this type has.
    static var limit: Int { get }

    init(signed: Fields) throws
}
