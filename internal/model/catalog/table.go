package catalog

var (
	low2high = []string{"low", "medium", "high"}
	low2max  = []string{"low", "medium", "high", "xhigh", "max"}
	min2high = []string{"minimal", "low", "medium", "high"}
)

// table has the providers' own figures as of November 2026. The first entry of a provider is its
// default. Output is what we ask for at most where the provider wants to be told (Anthropic), which
// may be less than the model can.
//
// OpenAI's models since 5.4 think beside tools only in its Responses API; in Chat Completions they
// take tools with effort "none", and the newest not even that (openai-openapi issue 541), so the
// default is the newest that thinks and acts in Chat Completions.
var table = map[string][]Entry{
	"openai": {
		{Name: "gpt-5.2", Context: 400_000, Output: 128_000, Images: true, Thinking: Effort, Levels: low2high},
		{Name: "gpt-5.6-sol", Context: 1_050_000, Output: 128_000, Images: true, ChatNoEffort: true},
		{Name: "gpt-5.6-terra", Context: 1_050_000, Output: 128_000, Images: true, ChatNoEffort: true},
		{Name: "gpt-5.6-luna", Context: 1_050_000, Output: 128_000, Images: true, ChatNoEffort: true},
		{Name: "gpt-5.5", Context: 1_050_000, Output: 128_000, Images: true, ChatNoEffort: true},
		{Name: "gpt-5.4", Context: 1_050_000, Output: 128_000, Images: true, ChatNoEffort: true},
		{Name: "gpt-5.4-mini", Context: 400_000, Output: 128_000, Images: true, ChatNoEffort: true},
		{Name: "gpt-5.4-nano", Context: 400_000, Output: 128_000, Images: true, ChatNoEffort: true},
		{Name: "gpt-5.1", Context: 400_000, Output: 128_000, Images: true, Thinking: Effort, Levels: low2high},
		{Name: "gpt-5", Context: 400_000, Output: 128_000, Images: true, Thinking: Effort, Levels: min2high},
		{Name: "gpt-5-mini", Context: 400_000, Output: 128_000, Images: true, Thinking: Effort, Levels: min2high},
		{Name: "gpt-5-nano", Context: 400_000, Output: 128_000, Images: true, Thinking: Effort, Levels: min2high},
		{Name: "o4-mini", Context: 200_000, Output: 100_000, Images: true, Thinking: Effort, Levels: low2high},
		{Name: "o3", Context: 200_000, Output: 100_000, Images: true, Thinking: Effort, Levels: low2high},
		{Name: "gpt-4.1", Context: 1_047_576, Output: 32_768, Images: true},
		{Name: "gpt-4.1-mini", Context: 1_047_576, Output: 32_768, Images: true},
		{Name: "gpt-4o", Context: 128_000, Output: 16_384, Images: true},
		{Name: "gpt-4o-mini", Context: 128_000, Output: 16_384, Images: true},
		{Name: "gpt-audio", Context: 128_000, Output: 16_384, Audio: true, Hidden: true},
		{Name: "gpt-5.6", Context: 1_050_000, Output: 128_000, Images: true, ChatNoEffort: true, Hidden: true},
		{Name: "gpt-6", Context: 1_050_000, Output: 128_000, Images: true, ChatNoEffort: true, Hidden: true},
		{Name: "gpt-6.1", Context: 1_050_000, Output: 128_000, Images: true, ChatNoEffort: true, Hidden: true},
	},
	"anthropic": {
		{Name: "claude-sonnet-5-5", Context: 1_000_000, Output: 64_000, Images: true, Thinking: Adaptive, Levels: low2max},
		{Name: "claude-opus-5-5", Context: 1_000_000, Output: 64_000, Images: true, Thinking: Adaptive, Levels: low2max},
		{Name: "claude-haiku-5-5", Context: 1_000_000, Output: 64_000, Images: true, Thinking: Adaptive, Levels: low2max},
		{Name: "claude-fable-5-1", Context: 1_000_000, Output: 64_000, Images: true, Thinking: Adaptive, Levels: low2max},
		{Name: "claude-sonnet-5", Context: 1_000_000, Output: 64_000, Images: true, Thinking: Adaptive, Levels: low2max},
		{Name: "claude-opus-5", Context: 1_000_000, Output: 64_000, Images: true, Thinking: Adaptive, Levels: low2max},
		{Name: "claude-opus-4-8", Context: 1_000_000, Output: 64_000, Images: true, Thinking: Adaptive, Levels: low2max},
		{Name: "claude-opus-4-7", Context: 1_000_000, Output: 64_000, Images: true, Thinking: Adaptive, Levels: low2max},
		{Name: "claude-opus-4-6", Context: 200_000, Output: 64_000, Images: true, Thinking: Adaptive, Levels: low2high},
		{Name: "claude-sonnet-4-6", Context: 200_000, Output: 64_000, Images: true, Thinking: Adaptive, Levels: low2high},
		{Name: "claude-haiku-4-5", Context: 200_000, Output: 64_000, Images: true, Thinking: Budget, Levels: low2high},
		{Name: "claude-opus-4-5", Context: 200_000, Output: 64_000, Images: true, Thinking: Budget, Levels: low2high},
		{Name: "claude-sonnet-4-5", Context: 200_000, Output: 64_000, Images: true, Thinking: Budget, Levels: low2high, Hidden: true},
		{Name: "claude-opus-4", Context: 200_000, Output: 32_000, Images: true, Thinking: Budget, Levels: low2high, Hidden: true},
		{Name: "claude-sonnet-4", Context: 200_000, Output: 64_000, Images: true, Thinking: Budget, Levels: low2high, Hidden: true},
		{Name: "claude-3-7-sonnet", Context: 200_000, Output: 64_000, Images: true, Thinking: Budget, Levels: low2high, Hidden: true},
		{Name: "claude-3-5", Context: 200_000, Output: 8_192, Images: true, Hidden: true},
		{Name: "claude-3", Context: 200_000, Output: 4_096, Images: true, Hidden: true},
		{Name: "claude", Context: 200_000, Output: 32_000, Images: true, Thinking: Adaptive, Levels: low2high, Hidden: true},
	},
	"gemini": {
		{Name: "gemini-3.7-flash", Context: 1_048_576, Output: 65_536, Images: true, Audio: true, Thinking: Effort, Levels: low2high},
		{Name: "gemini-3.6-flash", Context: 1_048_576, Output: 65_536, Images: true, Audio: true, Thinking: Effort, Levels: min2high},
		{Name: "gemini-3.5-flash", Context: 1_048_576, Output: 64_000, Images: true, Audio: true, Thinking: Effort, Levels: min2high},
		{Name: "gemini-3.5-flash-lite", Context: 1_048_576, Output: 65_536, Images: true, Audio: true, Thinking: Effort, Levels: min2high},
		{Name: "gemini-3.1-pro-preview", Context: 1_048_576, Output: 64_000, Images: true, Audio: true, Thinking: Effort, Levels: low2high},
		{Name: "gemini-3-pro-preview", Context: 1_048_576, Output: 64_000, Images: true, Audio: true, Thinking: Effort, Levels: []string{"low", "high"}},
		{Name: "gemini-3-flash-preview", Context: 1_048_576, Output: 65_536, Images: true, Audio: true, Thinking: Effort, Levels: min2high},
		{Name: "gemini-2.5-pro", Context: 1_048_576, Output: 65_536, Images: true, Audio: true, Thinking: Effort, Levels: low2high},
		{Name: "gemini-2.5-flash", Context: 1_048_576, Output: 65_536, Images: true, Audio: true, Thinking: Effort, Levels: low2high},
		{Name: "gemini", Context: 1_048_576, Images: true, Hidden: true},
	},
	"openrouter": {
		{Name: "openrouter/auto", Images: true},
		{Name: "anthropic/claude-sonnet-5"},
		{Name: "openai/gpt-5.6-terra"},
		{Name: "google/gemini-3.7-flash"},
	},
}
