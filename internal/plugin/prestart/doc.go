// Package prestart keeps a pool of prestarted processes: sandboxed processes that have not begun to
// run their plugins. There is one for each plugin that was used and has no other process, so that
// the next call waits only for the plugin itself.
//
// The package launches plugins as package process does, and prestarts a process after the last one
// of a plugin has ended. It does not decide which plugins exist or when one is launched. A
// prestarted process is not shown as an instance.
package prestart
