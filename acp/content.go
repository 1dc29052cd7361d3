package acp

import (
	"context"
	"encoding/json"
	"fmt"

	sdk "github.com/coder/acp-go-sdk"

	"acp-agent/internal/model"
)

// block is one content block of a prompt, checked.
type block struct {
	kind     string // text, image, resource_link, resource
	text     string // text
	image    model.Media
	link     *sdk.ContentBlockResourceLink
	resource *sdk.EmbeddedResourceResource
}

// parseBlocks checks a prompt's content. The protocol library takes a block of an unknown type for
// one of another, so the discriminator and the fields that must be there are looked at first.
func parseBlocks(raw json.RawMessage) ([]block, error) {
	if isNull(raw) {
		return nil, invalidParams("prompt is missing")
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, invalidParams("prompt must be a list of content blocks")
	}
	if len(list) == 0 {
		return nil, invalidParams("prompt is empty")
	}
	blocks := make([]block, 0, len(list))
	for i, item := range list {
		b, err := parseBlock(item)
		if err != nil {
			return nil, invalidParams("prompt[%d]: %v", i, err)
		}
		blocks = append(blocks, b)
	}
	return blocks, nil
}

func parseBlock(raw json.RawMessage) (block, error) {
	if !isObject(raw) {
		return block{}, errText("must be an object")
	}
	var peek struct {
		Type     string          `json:"type"`
		Text     *string         `json:"text"`
		Data     []byte          `json:"data"`
		MIME     string          `json:"mimeType"`
		URI      string          `json:"uri"`
		Resource json.RawMessage `json:"resource"`
	}
	if err := json.Unmarshal(raw, &peek); err != nil {
		return block{}, err
	}
	b := block{kind: peek.Type}
	switch peek.Type {
	case "text":
		if peek.Text == nil {
			return b, errText("text is missing")
		}
		b.text = *peek.Text
	case "image":
		if len(peek.Data) == 0 || peek.MIME == "" {
			return b, errText("an image needs data and mimeType")
		}
		b.image = model.Media{MIME: peek.MIME, Data: peek.Data}
	case "audio":
		return b, errText("audio is not supported (promptCapabilities.audio is false)")
	case "resource_link":
		if peek.URI == "" {
			return b, errText("uri is missing")
		}
		b.link = &sdk.ContentBlockResourceLink{}
		return b, json.Unmarshal(raw, b.link)
	case "resource":
		var err error
		b.resource, err = parseResource(peek.Resource)
		return b, err
	case "":
		return b, errText("type is missing")
	default:
		return b, fmt.Errorf("unknown content type %q", peek.Type)
	}
	return b, nil
}

func parseResource(raw json.RawMessage) (*sdk.EmbeddedResourceResource, error) {
	if !isObject(raw) {
		return nil, errText("resource must be an object")
	}
	var peek struct {
		URI  *string `json:"uri"`
		Text *string `json:"text"`
		Blob *string `json:"blob"`
	}
	if err := json.Unmarshal(raw, &peek); err != nil {
		return nil, err
	}
	if peek.URI == nil || (peek.Text == nil) == (peek.Blob == nil) {
		return nil, errText("a resource needs uri and either text or blob")
	}
	r := &sdk.EmbeddedResourceResource{}
	if peek.Text != nil {
		r.TextResourceContents = &sdk.TextResourceContents{}
		return r, json.Unmarshal(raw, r.TextResourceContents)
	}
	r.BlobResourceContents = &sdk.BlobResourceContents{}
	return r, json.Unmarshal(raw, r.BlobResourceContents)
}

// parts turns the blocks into what the model reads.
func (t *turn) parts(ctx context.Context, blocks []block, info model.Info) ([]model.Part, error) {
	var parts []model.Part
	for _, b := range blocks {
		switch b.kind {
		case "text":
			parts = append(parts, model.Part{Text: b.text})
		case "image":
			if !info.Images {
				return nil, invalidParams("%s takes no images: choose another model, or send the prompt without them", info.ID)
			}
			parts = append(parts, model.Part{Image: &b.image})
		case "resource_link":
			parts = append(parts, t.linkParts(ctx, b.link, info)...)
		case "resource":
			parts = append(parts, t.resourceParts(b.resource, info)...)
		}
	}
	return parts, ctx.Err()
}
