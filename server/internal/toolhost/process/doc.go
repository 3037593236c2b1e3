// Package process owns one plugin process: its launch and handshake through go-plugin, the
// connection, its output, its stop and its end. It does not know which plugin to launch, when or
// why. Package host does.
//
// go-plugin's Client implements the protocol, but nothing here waits for it: its calls take no
// context, and its Kill blocks while a plugin is stopped. So this package starts, watches and kills
// the process. It shows go-plugin one validated handshake line and an empty standard error, and
// calls Kill after the process is gone.
//
// Package limits bounds the process. Where the machine can make one, the process lives in a PID
// namespace (package pidns).
//
// A Process drives parts that own their state: confinement starts the process in its namespaces and
// its sandbox, resources bounds what it uses, streams reads what it prints, link and channels are
// the connection, and watchedNames ends the process when its sandbox no longer protects a file.
//
// A Process owns these goroutines. One (own) waits for the others, releases everything and ends
// last. One starts the process and reaps it, on a locked thread, and a second one then closes a
// channel (child). Two read its pipes (streams), one logs (output), and two watch its limits
// (resources).
package process
