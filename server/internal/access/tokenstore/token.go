package tokenstore

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
)

// A token has the form PREFIX_ID_SECRETCHECK, such as toolhost_k3j9x2m4qa_ABCD…:
//
//   - The prefix is the name of the program. Secret scanners and people recognize the token by it,
//     and a server recognizes the token of another program.
//   - The id names the token's record. It is no secret: lists and logs show it.
//   - The secret has 260 random bits.
//   - The checksum is the CRC-32 of all before it. It separates a mistyped or truncated token from an
//     invented one without a look into the store. It protects nothing.
//
// Scanners find a token by PREFIX_[a-z2-7]{10}_[A-Z2-7]{59}.
const (
	idLength     = 10
	secretLength = 52
	checkLength  = 7
)

var base32Text = base32.StdEncoding.WithPadding(base32.NoPadding)

// newToken returns a random token and its id.
func newToken(prefix string) (token, id string) {
	id = strings.ToLower(rand.Text()[:idLength])
	body := prefix + "_" + id + "_" + rand.Text() + rand.Text()
	return body + checksum(body), id
}

func checksum(body string) string {
	return base32Text.EncodeToString(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(body))))
}

// HasPrefix reports whether a bearer credential claims to be a token of a program.
func HasPrefix(prefix, bearer string) bool { return strings.HasPrefix(bearer, prefix+"_") }

// parse returns the id in a token. Its errors do not contain any part of the secret.
func parse(prefix, token string) (id string, err error) {
	rest, found := strings.CutPrefix(token, prefix+"_")
	if !found {
		return "", fmt.Errorf("it is not a token of %s", prefix)
	}
	id, secret, found := strings.Cut(rest, "_")
	if !found || len(id) != idLength || strings.Trim(id, "abcdefghijklmnopqrstuvwxyz234567") != "" {
		return "", errors.New("the token is ill-formed")
	}
	if len(secret) != secretLength+checkLength {
		return "", fmt.Errorf("the token %s is truncated or has something after it", id)
	}
	if body := token[:len(token)-checkLength]; checksum(body) != token[len(body):] {
		return "", fmt.Errorf("the token %s is mistyped: its checksum is wrong", id)
	}
	return id, nil
}

// digest returns what the store keeps of a token.
//
// SHA-256 without salt and without iterations is right here, although it is wrong for passwords. A
// secret of 260 random bits cannot be guessed at any speed, and no two tokens are the same. A slow
// hash would only let strangers spend the server's processor time.
func digest(token string) [sha256.Size]byte { return sha256.Sum256([]byte(token)) }
