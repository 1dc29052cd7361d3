package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// nearest is the hint behind an unknown key: the known key that it most resembles, the section that
// has a key of that very name, or, when nothing is alike, the keys that are allowed there.
func nearest(key, path string, fields map[string]reflect.Type) string {
	known := slices.Sorted(maps.Keys(fields))
	best, dist := "", 0
	for _, k := range known {
		if d := distance(snake(key), k); best == "" || d < dist {
			best, dist = k, d
		}
	}
	if best != "" && dist <= max(2, len(best)/3) {
		return fmt.Sprintf("did you mean %q?", best)
	}
	if elsewhere := findKey(reflect.TypeFor[Config](), snake(key), ""); elsewhere != "" && elsewhere != join(path, key) {
		return fmt.Sprintf("did you mean %q?", elsewhere)
	}
	return fmt.Sprintf("the nearest known key is %q; allowed are %s", best, strings.Join(known, ", "))
}

// findKey looks for a key of that name in any section.
func findKey(t reflect.Type, key, path string) string {
	fields := fieldsOf(t)
	if _, ok := fields[key]; ok {
		return join(path, key)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if ft := fields[name]; ft.Kind() == reflect.Struct {
			if found := findKey(ft, key, join(path, name)); found != "" {
				return found
			}
		}
	}
	return ""
}

// distance is the number of inserted, deleted, replaced or swapped neighbouring letters between a
// and b.
func distance(a, b string) int {
	prev2, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
