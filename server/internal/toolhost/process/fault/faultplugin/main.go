// Command faultplugin is package fault as an executable.
package main

import (
	"os"

	"github.com/toolhost/toolhost/server/internal/toolhost/process/fault"
)

func main() { os.Exit(fault.Main(os.Args[1:])) }
