package lsp

import (
	"slices"

	"acp-agent/internal/workspace"
)

// maxProposals is how many foreseen proposals a server's verdicts are kept of.
const maxProposals = 16

// proposal is what a server said of a proposal's texts, in a state of the world. When exactly these
// texts are applied and nothing else has changed, that is the verdict on them.
type proposal struct {
	world   uint64
	answers map[workspace.Path]answer
}

// keepProposal stores the verdicts on a whole proposal. in.mu is held.
func (in *instance) keepProposal(world uint64, g *group, answers []answer) {
	if in.world != world {
		return
	}
	p := proposal{world: world, answers: map[workspace.Path]answer{}}
	for i, f := range g.files {
		if answers[i].reason != "" {
			return
		}
		p.answers[f.file] = answers[i]
	}
	if len(in.proposals) >= maxProposals {
		in.proposals = slices.Delete(in.proposals, 0, 1)
	}
	in.proposals = append(in.proposals, p)
}

// foreseen finds the verdicts on exactly the texts of an edit that is applied in a state of the world.
// in.mu is held.
func (in *instance) foreseen(world uint64, g *group) map[workspace.Path]answer {
	for i := len(in.proposals) - 1; i >= 0; i-- {
		p := in.proposals[i]
		if p.world != world || len(p.answers) != len(g.files) {
			continue
		}
		same := true
		for _, f := range g.files {
			a, ok := p.answers[f.file]
			same = same && ok && a.text == f.change.NewText
		}
		if same {
			return p.answers
		}
	}
	return nil
}
