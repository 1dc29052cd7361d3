# Names for the scripts, for people who type make. The scripts say what they do.
.PHONY: build test quick bench

build:
	CGO_ENABLED=0 go build -trimpath -o bin/ ./cmd/...

test:
	scripts/test

quick:
	scripts/test quick

bench:
	scripts/bench
