package config

import (
	"fmt"
	"path"
	"strings"

	"github.com/toolhost/toolhost/tool"
)

// checkFilters reports invalid names and patterns. toolhost checks later, when it has read the
// plugins, whether such filters and tools exist.
func (d *decoder) checkFilters() {
	for i, f := range d.config.Filters {
		parent := fmt.Sprintf("filters[%d]", i)
		if err := tool.CheckName(f.Filter); err != nil {
			d.Fail(d.At[parent+".filter"], parent+".filter", "%v", err)
		}
		for j, pattern := range f.Tools {
			if err := checkPattern(pattern); err != nil {
				key := fmt.Sprintf("%s.tools[%d]", parent, j)
				d.Fail(d.At[parent+".tools"], key, "%v", err)
			}
		}
		for j, tag := range f.Tags {
			if tag == "" {
				d.Fail(d.At[parent+".tags"], fmt.Sprintf("%s.tags[%d]", parent, j), "the tag is empty")
			}
		}
	}
}

// checkPattern returns what is wrong with a tool name or a pattern of names, or nil.
func checkPattern(pattern string) error {
	if !strings.ContainsAny(pattern, `*?[\`) {
		return tool.CheckName(pattern)
	}
	if _, err := path.Match(pattern, ""); err != nil {
		return fmt.Errorf("the pattern %q cannot be read; in it * stands for any characters, ? for one, and [a-z] for one of these", pattern)
	}
	return nil
}
