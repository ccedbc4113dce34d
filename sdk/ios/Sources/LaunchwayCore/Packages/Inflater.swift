// A raw deflate stream, unpacked by zlib in memory of constant size.
import zlib

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

final class Inflater {
    /// The result of one step.
    struct Step {
        /// The number of input bytes that were used.
        let used: Int
        /// The number of bytes that were unpacked.
        let given: Int
        /// Whether the stream ends here.
        let isEnd: Bool
    }

    /// zlib keeps the address of the stream.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)

    init() throws {
        stream.initialize(to: z_stream())
        let size = Int32(MemoryLayout<z_stream>.size)
        guard inflateInit2_(stream, -MAX_WBITS, ZLIB_VERSION, size) == Z_OK else {
            throw StorageError.failed(action: "inflate", path: "", code: ENOMEM)
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    /// Begins a new stream.
    func reset() {
        inflateReset(stream)
    }

    /// Unpacks from `input` to the front of `output`. Nil if the bytes are no deflate stream.
    func step(_ input: ArraySlice<UInt8>, into output: inout [UInt8]) -> Step? {
        let room = output.count
        let result = input.withUnsafeBufferPointer { from in
            output.withUnsafeMutableBufferPointer { to in
                stream.pointee.next_in = UnsafeMutablePointer(mutating: from.baseAddress)
                stream.pointee.avail_in = UInt32(from.count)
                stream.pointee.next_out = to.baseAddress
                stream.pointee.avail_out = UInt32(to.count)
                return inflate(stream, Z_NO_FLUSH)
            }
        }
        // Without progress zlib reports Z_BUF_ERROR, which is not fatal.
        guard result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR else {
            return nil
        }
        let used = input.count - Int(stream.pointee.avail_in)
        let given = room - Int(stream.pointee.avail_out)
        return Step(used: used, given: given, isEnd: result == Z_STREAM_END)
    }
}
