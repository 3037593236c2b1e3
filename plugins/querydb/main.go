// Command querydb is a plugin with which a model queries databases without changing them: SQLite
// files and PostgreSQL servers, separate for each tenant. An operator's file lists the databases;
// see docs/query_db.md.
package main

import (
	"fmt"
	"os"

	"github.com/toolhost/toolhost/sdk"
)

func main() {
	l, err := newLibrary(os.Getenv(setupVariable))
	if err != nil {
		fmt.Fprintln(os.Stderr, "querydb:", err)
		os.Exit(1)
	}
	sdk.Serve(plugin(l))
}

func plugin(l *library) sdk.Plugin {
	return sdk.Plugin{
		Name:        "querydb",
		Version:     "1.0.0",
		Description: "Queries on SQLite and PostgreSQL databases, which change nothing.",
		Tools:       []sdk.Tool{queryTool(l), describeTool(l)},
		DefaultTags: []string{"data", "sql"},
	}
}
