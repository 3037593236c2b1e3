package wirecode

// Decode reads b into m as the codec does, with payloads of at least keep bytes not copied; 0 copies all.
func Decode(b []byte, m Message, keep int) error { return new(Reader).decode(b, m, keep) }

// What is large, for tests.
const Largest = largest
