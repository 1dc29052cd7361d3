package provenance

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gowebpki/jcs"
)

// version of the line format.
const version = 1

// emptyHash is how the last member looks before the hash is known, and hashTail how it begins after.
const (
	emptyHash = `,"hash":""}`
	hashTail  = `,"hash":"`
	hashLen   = 2 * sha256.Size
)

// seal fills in the chain's fields of r and gives its line, newline included. The line keeps the
// order of the contract for people who read it; the hash is taken over the canonical form, so it does
// not depend on that order.
func seal(r *Record, seq int64, prev string) ([]byte, error) {
	r.V, r.Seq, r.Prev, r.Hash = version, seq, prev, ""
	if r.Files == nil {
		r.Files = []File{}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return nil, err
	}
	body, ok := bytes.CutSuffix(b.Bytes(), []byte(emptyHash+"\n"))
	if !ok {
		return nil, errors.New("hash is not the last member of a record")
	}
	hash, err := chainHash(prev, append(bytes.Clone(body), '}'))
	if err != nil {
		return nil, err
	}
	r.Hash = hash
	return append(body, hashTail+hash+"\"}\n"...), nil
}

// chainHash is SHA-256 over prev (its hex digits) followed by the record without hash in RFC 8785
// form, as hex digits.
func chainHash(prev string, body []byte) (string, error) {
	canonical, err := jcs.Transform(body)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	h.Write([]byte(prev))
	h.Write(canonical)
	return hex.EncodeToString(h.Sum(nil)), nil
}

// link is what the chain and the crash repair need to know of a line.
type link struct {
	Seq      int64   `json:"seq"`
	Kind     Kind    `json:"kind"`
	Session  string  `json:"session"`
	ToolCall string  `json:"tool_call"`
	Proposal string  `json:"proposal"`
	Prev     string  `json:"prev"`
	Hidden   *string `json:"hash"` // a second "hash" member, before the last one
	hash     string
	body     []byte
}

// parseLink takes a line (without its newline) apart; it does not check the hash.
func parseLink(line []byte) (link, error) {
	var k link
	cut := len(line) - len(hashTail) - hashLen - len(`"}`)
	if cut < 1 || !bytes.HasPrefix(line[cut:], []byte(hashTail)) || !bytes.HasSuffix(line, []byte(`"}`)) {
		return k, errors.New("it does not end with a hash")
	}
	k.hash = string(line[cut+len(hashTail) : cut+len(hashTail)+hashLen])
	k.body = append(bytes.Clone(line[:cut]), '}')
	if err := json.Unmarshal(k.body, &k); err != nil {
		return k, err
	}
	if k.Hidden != nil {
		return k, errors.New("it has two hashes")
	}
	return k, nil
}

// check says what is wrong with the link as number seq of a chain whose last hash is prev; "" when
// nothing is.
func (k link) check(seq int64, prev string) string {
	if k.Seq != seq {
		return fmt.Sprintf("record %d stands where record %d belongs: records were removed, added or reordered", k.Seq, seq)
	}
	if k.Prev != prev {
		return "it is not chained to the record before it"
	}
	hash, err := chainHash(prev, k.body)
	if err != nil {
		return "it has no canonical form: " + err.Error()
	}
	if hash != k.hash {
		return "its content does not match its hash"
	}
	return ""
}

// intentKey tells which end belongs to which intent.
func (k link) intentKey() string {
	if k.Proposal != "" {
		return k.Session + "\x00p" + k.Proposal
	}
	return k.Session + "\x00t" + k.ToolCall
}
