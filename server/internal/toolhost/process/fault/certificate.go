package fault

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"time"
)

// certificate returns a self-signed certificate in the forms that tests need.
type certificate struct {
	pair tls.Certificate
	pem  []byte
}

func newCertificate() (certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return certificate{}, err
	}
	return certificate{
		pair: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		pem:  pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
	}, nil
}

// certificateField returns the handshake's sixth field: nothing, a certificate in go-plugin's form,
// one in base64 with padding, or a text that is no base64.
func certificateField(how string) (string, error) {
	if how == "" {
		return "", nil
	}
	c, err := newCertificate()
	if err != nil {
		return "", err
	}
	der := c.pair.Certificate[0]
	switch how {
	case "unsolicited":
		return base64.RawStdEncoding.EncodeToString(der), nil
	case "padded":
		der = append(der, bytes.Repeat([]byte{0}, 1+len(der)%3)...) // so that there is padding
		return strings.TrimRight(base64.StdEncoding.EncodeToString(der), "=") + "==", nil
	case "bad":
		return strings.Repeat("%!", len(der)/2), nil
	default:
		return "", fmt.Errorf("a certificate that is %q is not known", how)
	}
}
