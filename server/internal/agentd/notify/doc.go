// Package notify tells people what happens in runs: a decision waits, a run has ended, an outcome
// is unknown, a budget is almost used up.
//
// It owns the routes from events to targets, the content of messages, the forms of targets, and the
// sender. The messages are in a runstore.Outbox, which writes them together with the events that
// cause them, so that a message is neither lost nor sent for something that did not happen. A
// message in the outbox only names an event. Its content is read from the run when it is sent.
//
// The package does not know configuration files, and it decides nothing: what a target answers is
// success or failure.
package notify
