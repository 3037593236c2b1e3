package callstore

// Home is the toolhost that has the workspace of a session, of several that share a store.
type Home struct {
	Here bool   // it is the one that asks
	At   string // its name, for people
	ID   string // tells it from other homes of the session; changes if the session moves
	Life int64  // of another one: grows while that lives
}
