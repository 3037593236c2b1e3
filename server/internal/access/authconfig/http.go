package authconfig

import (
	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/listen"
	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
)

// HTTP says where programs without gRPC can reach RPCs as JSON over HTTP. All of them need a token.
type HTTP struct {
	// The address: `IP:PORT`. One that is not on loopback needs `tls`.
	Listen string `yaml:"listen" is:"listener" unset:"there is no JSON over HTTP"`
	// The files of TLS. Without them, programs of this machine reach it, or others through a proxy.
	TLS KeyPair `yaml:"tls"`
}

// KeyPair is the certificate of a listener whose clients have none. It is read again when the files
// change.
type KeyPair struct {
	// The file with the server's certificate and those between it and its CA, in PEM.
	Certificate string `yaml:"certificate" is:"file" unset:"no TLS"`
	// The file with the private key of the certificate. It has to be given with `certificate`.
	Key string `yaml:"key" is:"file" unset:"no TLS"`
}

// Configs returns the listener, or none if Listen is empty.
func (h *HTTP) Configs() ([]listen.Config, error) {
	if h.Listen == "" {
		return nil, nil
	}
	c, err := h.listener().Config()
	c.Web, c.JSON, c.Accepts = true, true, []string{authn.Token, authn.JWT}
	if err == nil {
		err = c.Check()
	}
	return []listen.Config{c}, err
}

func (h *HTTP) listener() *Listener {
	return &Listener{Address: h.Listen, TLS: TLS{Certificate: h.TLS.Certificate, Key: h.TLS.Key}}
}

// Files returns the files of the listener that no plugin may access; see Files of listeners.
func (h *HTTP) Files() []string { return Files([]Listener{*h.listener()}) }

// Check reports settings that contradict each other.
func (h *HTTP) Check(d *yamldoc.Decoder) {
	fail := func(key, format string, args ...any) {
		if !d.Failed(key) {
			d.Fail(d.At[key], key, format, args...)
		}
	}
	_, err := h.Configs()
	at, _ := address.ParseListener(h.Listen)
	switch {
	case h.Listen == "" && h.TLS != (KeyPair{}):
		fail("http", "the key listen is missing, which has the address, such as 127.0.0.1:8700")
	case h.Listen == "" || d.Failed("http.listen"):
	case at.IsUnix():
		fail("http.listen", "tokens are for the network; write IP:PORT, and use gRPC at the unix socket")
	case (h.TLS.Certificate == "") != (h.TLS.Key == ""):
		fail("http.tls", "the keys certificate and key belong together; write both")
	case err != nil:
		fail("http.listen", "%v", err)
	}
}
