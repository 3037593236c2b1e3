// Package subreaper gives a toolhost ancestors that outlive it, so that whatever descends from it can be found by its descent
// and killed, however toolhost ends and whatever its descendants did to their group, their session and their environment.
// It needs no right that an ordinary user has not.
//
// There are two keepers, one above the other: the outer one is the process that was started, the inner one its child, and
// toolhost the child of that. Each adopts the orphans below it. When the child or the parent of a keeper ends, it kills all
// that descends from it; so any one of the three may be killed. Signals that ask for an end are handed down, the exit code
// is handed up.
//
// It does not know plugins, nor when keepers are needed: they cost two small processes, and where control groups or PID
// namespaces hold plugins there is no need for them. Where processes do not adopt orphans, as on other systems than Linux,
// there are none.
package subreaper
