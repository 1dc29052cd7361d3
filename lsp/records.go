package lsp

import "slices"

// maxRecords is how many verdicts of a document are kept, by text.
const maxRecords = 4

// record is a verdict: what the server said of exactly this text, when the rest of the files was as
// it was in this state of the world. World 0 is none: a proposal stood in place of some file.
type record struct {
	text  string
	world uint64
	at    uint64 // the state of the world, also for what was taken with a proposal in place
	items []diag
}

// state is the world that a verdict given now belongs to.
func (ds *documents) state() uint64 {
	if ds.untrue {
		return 0
	}
	return ds.world
}

// remember keeps a verdict of the text that the server has of d.
func (d *document) remember(r record) {
	d.records = slices.DeleteFunc(d.records, func(o record) bool { return o.text == r.text })
	if len(d.records) >= maxRecords {
		d.records = slices.Delete(d.records, 0, 1)
	}
	d.records = append(d.records, r)
}

// recall finds a verdict of a text, in the present state of the world or, with anyWorld, in any.
func (in *instance) recall(d *document, text string, anyWorld bool) (record, bool) {
	for i := len(d.records) - 1; i >= 0; i-- {
		if r := d.records[i]; r.text == text && (anyWorld || (r.world == in.world && !in.untrue)) {
			return r, true
		}
	}
	return record{}, false
}
