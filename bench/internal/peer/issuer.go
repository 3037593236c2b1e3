package peer

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"github.com/coreos/go-oidc/v3/oidc/oidctest"
)

// issuer is an OpenID Connect issuer on loopback.
type issuer struct {
	server *httptest.Server
	key    *ecdsa.PrivateKey
}

// startIssuer starts an issuer, and writes the certificate of its server to the file issuer.pem of
// a folder. The caller must call Close.
func startIssuer(folder string) (*issuer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	provider := &oidctest.Server{
		PublicKeys: []oidctest.PublicKey{{PublicKey: key.Public(), KeyID: "bench", Algorithm: "ES256"}}, Algorithms: []string{"ES256"},
	}
	server := httptest.NewTLSServer(provider)
	provider.SetIssuer(server.URL)
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(filepath.Join(folder, "issuer.pem"), certificate, 0o600); err != nil {
		server.Close()
		return nil, err
	}
	return &issuer{server, key}, nil
}

// Close stops the issuer.
func (i *issuer) Close() error {
	i.server.Close()
	return nil
}

// sign returns a JWT that is valid for an hour.
func (i *issuer) sign() string {
	now := time.Now()
	return oidctest.SignIDToken(i.key, "bench", "ES256", fmt.Sprintf(`{"iss":%q,"aud":"toolhost","sub":"bench","iat":%d,"exp":%d}`,
		i.server.URL, now.Unix(), now.Add(time.Hour).Unix()))
}
