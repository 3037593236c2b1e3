package anthropic

import (
	"strings"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// Anthropic signs each complete block of thinking, and refuses thinking without a signature. Some
// compatible servers sign nothing, and refuse a conversation in which thinking is missing. So the
// unsigned thinking of a compatible server is an opaque block of that server only.

// unsignedOf returns the provider of opaque blocks with the unsigned thinking of a server.
func unsignedOf(server string) string { return provider + "@" + server }

// owns reports whether the API accepts an opaque block.
func (m *Model) owns(o *model.Opaque) bool {
	return o.Provider == provider || m.server != "" && o.Provider == unsignedOf(m.server)
}

// compatible returns the host of a compatible server, and nothing for Anthropic's own.
func compatible(host string) string {
	if host == "anthropic.com" || strings.HasSuffix(host, ".anthropic.com") {
		return ""
	}
	return host
}
