package callstore

// Home is the toolhost that has the workspace of a session, of several that share a store.
type Home struct {
	Here bool   // it is the one that asks
	At   string // its name, for people
	Life int64  // of another one: changes while that lives
}
