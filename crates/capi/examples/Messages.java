// Messages from Java 22 or newer, through the C library: java --enable-native-access=ALL-UNNAMED Messages.java LIBRARY

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

class Messages {
    static final int TAG = 16;
    static final int NONCE = 12;

    final Linker linker = Linker.nativeLinker();
    final SymbolLookup library;

    Messages(Path path, Arena arena) {
        library = SymbolLookup.libraryLookup(path, arena);
    }

    MethodHandle function(String name, FunctionDescriptor type) {
        return linker.downcallHandle(library.find(name).orElseThrow(), type);
    }

    String text(int error) throws Throwable {
        var text = (MemorySegment) function("sealwright_error_text", FunctionDescriptor.of(ADDRESS, JAVA_INT)).invoke(error);
        return text.reinterpret(Long.MAX_VALUE).getString(0);
    }

    public static void main(String[] words) throws Throwable {
        try (var arena = Arena.ofConfined()) {
            var sealwright = new Messages(Path.of(words[0]), arena);
            var made = FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS);
            var work = FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS);
            var seal = sealwright.function("sealwright_seal", work);
            var open = sealwright.function("sealwright_open", work);

            var place = arena.allocate(ADDRESS);
            int error = (int) sealwright.function("sealwright_key_new", made)
                .invoke(arena.allocateFrom("aes-256-gcm"), arena.allocate(32), 32L, place);
            if (error != 0) {
                throw new IllegalStateException(sealwright.text(error));
            }
            var key = place.get(ADDRESS, 0);
            var text = arena.allocateFrom("attack at dawn");
            var message = arena.allocate(text.byteSize() + TAG);
            var opened = arena.allocate(text.byteSize());
            var nonce = arena.allocate(NONCE);
            error = (int) seal.invoke(key, nonce, (long) NONCE, MemorySegment.NULL, 0L, text, text.byteSize(), message);
            if (error == 0) {
                error = (int) open.invoke(key, nonce, (long) NONCE, MemorySegment.NULL, 0L, message, message.byteSize(), opened);
            }
            System.out.println("opened: " + (error == 0 ? opened.getString(0) : sealwright.text(error)));

            message.set(JAVA_BYTE, 0, (byte) ~message.get(JAVA_BYTE, 0));
            error = (int) open.invoke(key, nonce, (long) NONCE, MemorySegment.NULL, 0L, message, message.byteSize(), opened);
            System.out.println("forged: " + sealwright.text(error));
            sealwright.function("sealwright_key_free", FunctionDescriptor.ofVoid(ADDRESS)).invoke(key);
        }
    }
}
