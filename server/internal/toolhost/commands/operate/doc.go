// Package operate holds the commands that are clients of a running toolhost: those that list and
// call tools, and those with which an operator looks at plugins and controls them.
package operate
