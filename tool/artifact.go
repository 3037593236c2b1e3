package tool

// ArtifactQuery selects a part of an artifact.
type ArtifactQuery struct {
	Principal string // set by servers from the connection, never from the request
	// the session of the call that returned it; empty: the principal's default session
	Session string
	Handle  string
	Offset  uint64 // the offset of the part, in bytes
	// the longest part, in bytes; 0: DefaultArtifactPiece; at most MaxArtifactPiece
	Limit int
}

// The default and the largest size of a part of an artifact, in bytes.
const (
	DefaultArtifactPiece = 64 << 10
	MaxArtifactPiece     = 1 << 20
)
