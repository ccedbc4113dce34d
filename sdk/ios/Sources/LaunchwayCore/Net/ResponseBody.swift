// The bytes of a response, read as they arrive.

protocol ResponseBody: AnyObject {
    /// The next bytes, at least one and at most `max`; none at the end. Throws `NetworkError` if the connection breaks.
    func read(max: Int) throws -> [UInt8]

    /// Nobody needs the rest.
    func close()
}
