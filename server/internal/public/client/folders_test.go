package client_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/tool"
)

func TestFoldersAreKnownAfterListTools(t *testing.T) {
	a, host := socket(t), newHost(t)
	serve(t, a, host)
	c, err := client.Dial(a.String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if diff := cmp.Diff(tool.Folders{}, c.Folders()); diff != "" {
		t.Errorf("before ListTools (-want +got):\n%s", diff)
	}
	if _, err := c.ListTools(t.Context(), tool.Query{MaxTools: 1}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(host.Folders(), c.Folders()); diff != "" {
		t.Errorf("after ListTools (-want +got):\n%s", diff)
	}
}
