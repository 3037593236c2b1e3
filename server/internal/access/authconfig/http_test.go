package authconfig_test

import (
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/config"
)

func TestHTTP(t *testing.T) {
	for text, want := range map[string]string{
		"{listen: '127.0.0.1:8700'}":                                              "",
		"{listen: '0.0.0.0:8700', tls: {certificate: c.pem, key: k.pem}}":         "",
		"{listen: '0.0.0.0:8700'}":                                                "http.listen: other machines can reach 0.0.0.0:8700",
		"{listen: '127.0.0.1:8700', tls: {certificate: c.pem}}":                   "http.tls: the keys certificate and key belong together",
		"{tls: {certificate: c.pem, key: k.pem}}":                                 "http: the key listen is missing",
		"{listen: 'unix:///run/x.sock'}":                                          "http.listen: tokens are for the network",
		"{listen: '127.0.0.1:8700', tls: {certificate: c, key: k, client_ca: a}}": "client_ca: there is no such key",
	} {
		c, err := config.Parse("/etc/toolhost.yaml", []byte("http: "+text+"\n"))
		if want == "" {
			configs, problem := c.HTTP.Configs()
			if err != nil || problem != nil || len(configs) != 1 || !configs[0].JSON || !configs[0].Web || len(configs[0].Accepts) != 2 {
				t.Errorf("%s: %+v, %v, %v", text, configs, err, problem)
			}
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
