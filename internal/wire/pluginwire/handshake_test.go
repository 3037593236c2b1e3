package pluginwire_test

import (
	"testing"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/toolhost/toolhost/internal/wire/pluginwire"
)

// The test acts as go-plugin: it requests the client and the server from the plugin sets, without a
// broker.
func TestPluginSets(t *testing.T) {
	side := func(sets map[int]goplugin.PluginSet) goplugin.GRPCPlugin {
		p, ok := sets[pluginwire.ProtocolVersion][pluginwire.PluginKey].(goplugin.GRPCPlugin)
		if !ok || len(sets) != 1 {
			t.Fatalf("no GRPCPlugin in %v", sets)
		}
		return p
	}
	cc, _ := serve(t, func(s *grpc.Server) {
		if err := side(pluginwire.PluginPlugins(echo, quiet)).GRPCServer(nil, s); err != nil {
			t.Fatal(err)
		}
	})
	dispensed, err := side(pluginwire.HostPlugins(pluginwire.ConnConfig{MaxResultBytes: 3})).GRPCClient(t.Context(), nil, cc)
	if err != nil {
		t.Fatal(err)
	}
	conn, ok := dispensed.(*pluginwire.Conn)
	if !ok {
		t.Fatalf("dispensed a %T", dispensed)
	}
	defer conn.Close()
	if err := conn.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantText(t, outcome(t, start(t, conn, pluginwire.Start{Arguments: []byte("123"), Complete: true})), "123")
	if out := outcome(t, start(t, conn, pluginwire.Start{Arguments: []byte("1234"), Complete: true})); out.Err == nil {
		t.Error("the configuration did not reach the connection")
	}
	if got := pluginwire.Handshake(); got.MagicCookieKey != "TOOLHOST_PLUGIN" || got.MagicCookieValue == "" || got.ProtocolVersion != 1 {
		t.Errorf("handshake %+v", got)
	}
}

func TestSpeaks(t *testing.T) {
	for offered, want := range map[string]bool{"": true, "1": true, "999,1": true, " 1 ,x": true, "2": false, "999": false, "x": false, "1.0": false} {
		if got := pluginwire.Speaks(offered); got != want {
			t.Errorf("offered %q: %v, want %v", offered, got, want)
		}
	}
}
