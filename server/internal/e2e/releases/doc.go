// Package releases tests that this tree opens the files that earlier releases stored, continues the
// runs in them, and understands the messages that earlier releases sent. Each folder of testdata
// has the name of a release and contains files of that release:
//
//   - home: the state of a toolhost that was killed during a call, with ledger, catalog, trust
//     records, audit log and lock file, and the journal of an agentd that was killed, with a run
//     that has finished, one that waits for an approval, and one that was working
//   - client.json: the messages of a client's conversation with toolhost
//   - plugin-go.json, plugin-python.json, plugin-typescript.json: the messages of a plugin's
//     conversation with toolhost, in each language
//
// The executable of a Go plugin has 14 MB, and an environment of a Python plugin 36 MB, so testdata
// contains the conversations of the plugins instead.
//
// `make fixtures` writes the folder of the present version, with programs of the present tree. A
// release commits it, and no later change may write it again.
package releases
