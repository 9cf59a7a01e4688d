import Base
import NIOCore
import Testing

@testable import SkyCore
@testable import SkyJobs

@Suite struct TileCacheTests {
    private func key(_ column: Int, content: UInt8 = 1) -> TileCache.Key {
        TileCache.Key(.tile(column, of: "/sky.fits", content: content))
    }

    private func bytes(_ count: Int) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: count)
        buffer.writeRepeatingByte(1, count: count)
        return buffer
    }

    @Test func `the most recently used parts stay, within the limit`() {
        var cache = TileCache(limit: 4096)
        for column in 0..<4 { cache.insert(key(column), bytes(1024)) }
        #expect(cache.count == 4 && cache.byteCount == 4096)
        #expect(cache.value(key(0)) != nil)
        cache.insert(key(4), bytes(1024))
        #expect(cache.value(key(1)) == nil, "it was not used for longest")
        #expect(cache.value(key(0)) != nil && cache.value(key(4)) != nil)
        cache.insert(key(5), bytes(4096))
        #expect(cache.count == 1 && cache.byteCount == 4096)
        cache.insert(key(6), bytes(8192))
        #expect(cache.value(key(6)) == nil && cache.count == 1, "too large alone")
    }

    @Test func `the same part counts once, and other content is another part`() {
        var cache = TileCache(limit: 1 << 20)
        for _ in 0..<10 { cache.insert(key(0), bytes(1024)) }
        #expect(cache.byteCount == 1024)
        #expect(cache.value(key(0, content: 2)) == nil)
        #expect(
            cache.value(TileCache.Key(.tile(0, of: "/elsewhere/sky.fits", content: 1))) != nil,
            "by content, not by path")
    }

    @Test func `a later modification time makes other parts of a sampled file`() {
        var request = PixelRequest.tile(0, of: "/sky.fits")
        request.file.content.isSample = true
        var later = request
        later.file.content.modified += 1
        var cache = TileCache(limit: 4096)
        cache.insert(TileCache.Key(request), bytes(1024))
        #expect(cache.value(TileCache.Key(request)) != nil)
        #expect(cache.value(TileCache.Key(later)) == nil)
    }

    @Test func `ten thousand parts leave the cache at its limit`() {
        var cache = TileCache(limit: 64 << 10)
        var random = SplitMix64(seed: 9)
        for _ in 0..<10_000 {
            let column = Int.random(in: 0..<200, using: &random)
            if cache.value(key(column)) == nil { cache.insert(key(column), bytes(1024)) }
            #expect(cache.byteCount <= 64 << 10)
        }
        #expect(cache.count == 64)
    }
}
