package wirecode

// Decode decodes b into m as the codec does.
func Decode(b []byte, m Message) error { return new(Reader).decode(b, m) }
