package wirecode

import "google.golang.org/protobuf/encoding/protowire"

// SizeVarint returns the size of a number whose tag has tag bytes.
func SizeVarint(tag int, v uint64) int { return tag + protowire.SizeVarint(v) }

// SizeBytes returns the size of what has a length before it, of n bytes.
func SizeBytes(tag, n int) int { return tag + protowire.SizeVarint(uint64(n)) + n }

// SizeMap returns the size of a map's entries.
func SizeMap[V string | []byte](tag int, m map[string]V) (n int) {
	for key, value := range m {
		n += SizeBytes(tag, SizeBytes(1, len(key))+SizeBytes(1, len(value)))
	}
	return n
}
