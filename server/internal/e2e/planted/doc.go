// Package planted attacks toolhost and agentd with files that tools, repositories and plugins leave
// for the next start: planted configuration, plugins that claim the names of others, and plugins
// that declare themselves harmless. It runs the installed binaries as an ordinary user, and also as
// root if the tests run as root. It contains only tests.
package planted
