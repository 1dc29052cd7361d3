package workspace

// Roots are the directories that one session may touch without asking: its cwd, the editor's
// additional directories, and the operator's configured roots. The value is immutable.
type Roots struct {
	cwd   Path
	named []Path // as given; named[0] is cwd
	real  []Path // the same with symlinks resolved
	home  Path   // the user's home folder, for "~"; empty when unknown
}

// NewRoots resolves cwd and the further directories. home serves "~" in tool arguments. A directory
// that does not exist is an error that names it.
func NewRoots(cwd, home Path, additional ...Path) (*Roots, error) { panic("TODO(files)") }

// Cwd is the base of relative tool paths.
func (r *Roots) Cwd() Path { return r.cwd }

// Named lists the roots as they were given, cwd first.
func (r *Roots) Named() []Path { return append([]Path(nil), r.named...) }

// Home is the user's home folder, empty when unknown.
func (r *Roots) Home() Path { return r.home }

// Resolve turns a path from a tool argument into a [Path]: absolute as it is, "~" expanded, a file:
// URI decoded, anything else below cwd. It refuses the empty path and NUL bytes.
func (r *Roots) Resolve(arg string) (Path, error) { panic("TODO(files)") }

// Location is where a path really leads.
type Location struct {
	Path   Path // as asked for
	Real   Path // with all symlinks resolved; for a path that does not exist, those of its longest existing parent
	Root   Path // the named root that really contains Real; empty when outside
	Inside bool // Real lies inside a root's real path
	Link   bool // the last element exists and is a symlink
}

// Locate follows symlinks and says whether the real target lies within a root. It never fails: a
// path that cannot be resolved (loop, permission) is outside.
func (r *Roots) Locate(p Path) Location { panic("TODO(files)") }
