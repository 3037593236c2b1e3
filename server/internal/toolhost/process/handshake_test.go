package process_test

import (
	"strings"
	"testing"
)

// A plugin that serves TLS without announcing it in its handshake fails its own launch only.
func TestPluginThatServesTLSInSilence(t *testing.T) {
	cfg, _ := setup(t, "-tls=silent")
	err := refused(t, cfg)
	if !strings.Contains(err.Error(), "it does not answer gRPC on its socket, as a server does that expects TLS") {
		t.Errorf("error %q", err)
	}
	if strings.Contains(err.Error(), "rpc error") {
		t.Errorf("error %q says it twice", err)
	}
	if exit := exitOf(t, err); exit.Signal != "SIGKILL" {
		t.Errorf("exit %+v", exit)
	}
	checkNext(t, cfg)
}

func TestPluginThatSaysItIsNotReady(t *testing.T) {
	cfg, _ := setup(t, "-health=bad")
	if err := refused(t, cfg); !strings.Contains(err.Error(), "asking for its health: it is NOT_SERVING") {
		t.Errorf("error %q", err)
	}
	checkNext(t, cfg)
}

// A plugin may write the handshake line byte by byte. toolhost waits for the end of the line.
func TestHandshakeThatComesByteByByte(t *testing.T) {
	cfg, _ := setup(t, "-dribble")
	checkEcho(t, launch(t, cfg))
}
