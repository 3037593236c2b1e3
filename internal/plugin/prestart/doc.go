// Package prestart keeps processes that wait behind their layers: one of each plugin that was used and does not run any more,
// so that who calls it next waits for the plugin alone. It launches plugins as package process does, and has a process wait
// once the last one of a plugin has ended. It decides neither which plugins there are nor when one is launched, and shows
// nobody what waits: it is no instance, for it has not begun to run its plugin.
package prestart
