// Package planted attacks toolhost and agentd by what tools, repositories and plugins leave behind
// for the next start: planted configuration, plugins that claim the names of others, and plugins
// that declare themselves harmless. It runs real binaries as they are installed, as root (if the
// tests are) and as an ordinary user. It holds tests only.
package planted
