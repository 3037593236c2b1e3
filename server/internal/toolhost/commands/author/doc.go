// Package author holds the commands with which an author writes a plugin: `new`, `dev` and
// `verify`.
package author
