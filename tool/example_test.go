package tool_test

import (
	"errors"
	"fmt"

	"github.com/toolhost/toolhost/tool"
)

// KindOf says how a call failed, also for an error that wraps another.
func ExampleKindOf() {
	err := fmt.Errorf("calling forecast: %w", tool.Errorf(tool.KindUnavailable, "the service restarts"))
	fmt.Println(tool.KindOf(err))
	fmt.Println(tool.KindOf(errors.New("anything else")))
	// Output:
	// unavailable
	// internal
}

// CheckName says what is wrong with a name of a tool or a plugin.
func ExampleCheckName() {
	fmt.Println(tool.CheckName("read_file"))
	fmt.Println(tool.CheckName("read file"))
	// Output:
	// <nil>
	// the name "read file" is ill-formed; use 1 to 64 of A-Z a-z 0-9 _ -, beginning with a letter
}

// A result is what the model reads. Its blocks can be text, JSON, images and files.
func ExampleResult() {
	result := tool.Result{Content: []tool.Content{
		tool.Text("3 rows"),
		tool.JSON([]byte(`[1,2,3]`)),
	}}
	fmt.Println(result.Text())
	fmt.Println(tool.ErrorResult("the table is empty").IsError)
	// Output:
	// 3 rows
	// [1,2,3]
	// true
}
