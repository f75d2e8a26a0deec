// Streams and files from C++, with owners that free what they hold.
#include <sealwright.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

// Throws if a call failed.
void must(int error)
{
    if (error != SEALWRIGHT_OK)
        throw std::runtime_error(std::string(sealwright_error_text(error)) + ": " + sealwright_last_error());
}

template <auto Free> struct Freed {
    template <typename T> void operator()(T *object) const { Free(object); }
};
template <typename T, auto Free> using Owned = std::unique_ptr<T, Freed<Free>>;

using Bytes = std::vector<std::uint8_t>;

// No exception may leave a function that the library calls: it becomes a number here, and the library's error there.
int append(void *state, const std::uint8_t *bytes, std::size_t len) noexcept
try {
    auto &to = *static_cast<Bytes *>(state);
    to.insert(to.end(), bytes, bytes + len);
    return 0;
} catch (...) {
    return 1;
}

struct Source {
    const Bytes &from;
    std::size_t at = 0;
};

int take(void *state, std::uint8_t *bytes, std::size_t len, std::size_t *got) noexcept
{
    auto &source = *static_cast<Source *>(state);
    *got = std::min(len, source.from.size() - source.at);
    std::copy_n(source.from.begin() + static_cast<std::ptrdiff_t>(source.at), *got, bytes);
    source.at += *got;
    return 0;
}

Bytes open_stream(const Bytes &sealed, const Bytes &key)
{
    Source source{sealed};
    sealwright_opener *raw;
    must(sealwright_opener_new("aes-256-gcm", key.data(), key.size(), nullptr, 0, take, &source, &raw));
    Owned<sealwright_opener, sealwright_opener_free> opener(raw);
    Bytes text(1000);
    for (std::size_t filled = 0, got;; filled += got) {
        text.resize(filled + 1000);
        must(sealwright_opener_read(opener.get(), text.data() + filled, 1000, &got));
        if (got == 0) {
            text.resize(filled);
            return text;
        }
    }
}

} // namespace

int main(int argc, char **argv)
try {
    if (argc != 2)
        throw std::runtime_error("usage: streams DIRECTORY");
    const std::string directory = argv[1];
    const Bytes key(32, 7), text(100000, 'x');

    Bytes sealed;
    sealwright_sealer *raw;
    must(sealwright_sealer_new("aes-256-gcm", key.data(), key.size(), nullptr, 0, append, &sealed, &raw));
    Owned<sealwright_sealer, sealwright_sealer_free> sealer(raw);
    must(sealwright_sealer_write(sealer.get(), text.data(), text.size()));
    must(sealwright_sealer_finish(sealer.get()));
    std::printf("stream: %zu bytes, %s\n", sealed.size(), open_stream(sealed, key) == text ? "opened" : "WRONG");

    // A stream that was cut off is found out, wherever it was cut.
    sealed.resize(sealed.size() - 20000);
    try {
        open_stream(sealed, key);
        std::printf("cut: WRONG\n");
    } catch (const std::runtime_error &error) {
        std::printf("cut: %s\n", error.what());
    }

    const std::string plain = directory + "/text", path = directory + "/text.seal", copy = directory + "/copy";
    std::ofstream(plain, std::ios::binary).write(reinterpret_cast<const char *>(text.data()), 100000);
    sealwright_secret *raw_key;
    must(sealwright_secret_raw(key.data(), key.size(), &raw_key));
    Owned<sealwright_secret, sealwright_secret_free> secret(raw_key);
    must(sealwright_file_seal(plain.c_str(), path.c_str(), "aes-256-gcm", secret.get(), nullptr, 0, 0));
    must(sealwright_file_open(path.c_str(), copy.c_str(), secret.get(), nullptr, 0, 0));
    const int again = sealwright_file_open(path.c_str(), copy.c_str(), secret.get(), nullptr, 0, 0);
    std::printf("file: opened; again: %s\n", sealwright_error_text(again));

    // In the middle, without opening what comes before.
    sealwright_reader *raw_reader;
    must(sealwright_reader_new(path.c_str(), secret.get(), nullptr, 0, &raw_reader));
    Owned<sealwright_reader, sealwright_reader_free> reader(raw_reader);
    std::uint8_t part[20];
    std::size_t got;
    must(sealwright_reader_read(reader.get(), 99990, part, sizeof part, &got));
    std::printf("reader: %zu bytes of %llu\n", got, static_cast<unsigned long long>(sealwright_reader_size(reader.get())));
    return 0;
} catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
