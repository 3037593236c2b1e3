package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"io"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// CallID returns the id of a call with at most longest bytes. The APIs refuse a longer id, which
// another provider may have given to a call. The same id always becomes the same shorter id, so
// that the call and its result still match.
func CallID(id string, longest int) string {
	if len(id) <= longest {
		return id
	}
	return "call_" + digest(func(w io.Writer) { _, _ = io.WriteString(w, id) })
}

// CacheKey returns the key by which OpenAI routes a request to the server that has its beginning in
// the prompt cache. Requests of one conversation have the same key, because the instructions and
// the first message stay the same. The key is a digest and reveals neither.
func CacheKey(req model.Request) string {
	return digest(func(w io.Writer) {
		_, _ = io.WriteString(w, req.System)
		if len(req.Messages) == 0 {
			return
		}
		for _, block := range req.Messages[0].Blocks {
			_, _ = w.Write([]byte{0})
			switch {
			case block.Text != nil:
				_, _ = io.WriteString(w, block.Text.Text)
			case block.Attachment != nil:
				_, _ = w.Write(block.Attachment.Data)
			}
		}
	})
}

// digest returns 32 hexadecimal digits. A collision only costs a cache miss, or joins two long ids.
func digest(write func(io.Writer)) string {
	hash := sha256.New()
	write(hash)
	return hex.EncodeToString(hash.Sum(nil)[:16])
}
