/* pattern_property.c: the names in \p{...}. ECMA-262's are those of Unicode's files, letter by
 * letter; PCRE2 has the short ones of the general categories only, and doesn't mind case. */
#include "core/pattern_ecma.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *ecma, *pcre2;
} categories[] = {
	{ "Cased_Letter", "L&" },
	{ "LC", "L&" },
	{ "Close_Punctuation", "Pe" },
	{ "Connector_Punctuation", "Pc" },
	{ "Control", "Cc" },
	{ "cntrl", "Cc" },
	{ "Currency_Symbol", "Sc" },
	{ "Dash_Punctuation", "Pd" },
	{ "Decimal_Number", "Nd" },
	{ "digit", "Nd" },
	{ "Enclosing_Mark", "Me" },
	{ "Final_Punctuation", "Pf" },
	{ "Format", "Cf" },
	{ "Initial_Punctuation", "Pi" },
	{ "Letter", "L" },
	{ "Letter_Number", "Nl" },
	{ "Line_Separator", "Zl" },
	{ "Lowercase_Letter", "Ll" },
	{ "Mark", "M" },
	{ "Combining_Mark", "M" },
	{ "Math_Symbol", "Sm" },
	{ "Modifier_Letter", "Lm" },
	{ "Modifier_Symbol", "Sk" },
	{ "Nonspacing_Mark", "Mn" },
	{ "Number", "N" },
	{ "Open_Punctuation", "Ps" },
	{ "Other", "C" },
	{ "Other_Letter", "Lo" },
	{ "Other_Number", "No" },
	{ "Other_Punctuation", "Po" },
	{ "Other_Symbol", "So" },
	{ "Paragraph_Separator", "Zp" },
	{ "Private_Use", "Co" },
	{ "Punctuation", "P" },
	{ "punct", "P" },
	{ "Separator", "Z" },
	{ "Space_Separator", "Zs" },
	{ "Spacing_Mark", "Mc" },
	{ "Symbol", "S" },
	{ "Titlecase_Letter", "Lt" },
	{ "Unassigned", "Cn" },
	{ "Uppercase_Letter", "Lu" },
	/* the short ones are the same in both */
	{ "C", "C" },
	{ "Cc", "Cc" },
	{ "Cf", "Cf" },
	{ "Cn", "Cn" },
	{ "Co", "Co" },
	{ "L", "L" },
	{ "Ll", "Ll" },
	{ "Lm", "Lm" },
	{ "Lo", "Lo" },
	{ "Lt", "Lt" },
	{ "Lu", "Lu" },
	{ "M", "M" },
	{ "Mc", "Mc" },
	{ "Me", "Me" },
	{ "Mn", "Mn" },
	{ "N", "N" },
	{ "Nd", "Nd" },
	{ "Nl", "Nl" },
	{ "No", "No" },
	{ "P", "P" },
	{ "Pc", "Pc" },
	{ "Pd", "Pd" },
	{ "Pe", "Pe" },
	{ "Pf", "Pf" },
	{ "Pi", "Pi" },
	{ "Po", "Po" },
	{ "Ps", "Ps" },
	{ "S", "S" },
	{ "Sc", "Sc" },
	{ "Sk", "Sk" },
	{ "Sm", "Sm" },
	{ "So", "So" },
	{ "Z", "Z" },
	{ "Zl", "Zl" },
	{ "Zp", "Zp" },
	{ "Zs", "Zs" },
};

static const char *const binary[] = {
	"ASCII",
	"ASCII_Hex_Digit",
	"Alphabetic",
	"Any",
	"Dash",
	"Diacritic",
	"Emoji",
	"Emoji_Component",
	"Emoji_Modifier",
	"Emoji_Modifier_Base",
	"Emoji_Presentation",
	"Extended_Pictographic",
	"Hex_Digit",
	"ID_Continue",
	"ID_Start",
	"Ideographic",
	"Lowercase",
	"Math",
	"Uppercase",
	"White_Space",
	"XID_Continue",
	"XID_Start",
};

static bool same(const char *text, size_t len, const char *name)
{
	return len == strlen(name) && memcmp(text, name, len) == 0;
}

static bool category(const char *text, size_t len, char name_out[PATTERN_PROPERTY_MAX])
{
	for (size_t i = 0; i < sizeof categories / sizeof categories[0]; i++) {
		if (!same(text, len, categories[i].ecma))
			continue;
		snprintf(name_out, PATTERN_PROPERTY_MAX, "%s", categories[i].pcre2);
		return true;
	}
	return false;
}

/* Which scripts there are is PCRE2's to know. */
static bool script(const char *prefix, const char *text, size_t len,
		   char name_out[PATTERN_PROPERTY_MAX])
{
	if (len == 0 || len > 40 || text[0] < 'A' || text[0] > 'Z')
		return false;
	for (size_t i = 0; i < len; i++)
		if (!((text[i] | 0x20) >= 'a' && (text[i] | 0x20) <= 'z') && text[i] != '_')
			return false;
	snprintf(name_out, PATTERN_PROPERTY_MAX, "%s:%.*s", prefix, (int)len, text);
	return true;
}

bool pattern_property(const char *text, size_t len, char name_out[PATTERN_PROPERTY_MAX])
{
	const char *equals = memchr(text, '=', len);

	if (equals) {
		size_t key_len = (size_t)(equals - text), rest = len - key_len - 1;

		if (same(text, key_len, "General_Category") || same(text, key_len, "gc"))
			return category(equals + 1, rest, name_out);
		if (same(text, key_len, "Script") || same(text, key_len, "sc"))
			return script("sc", equals + 1, rest, name_out);
		if (same(text, key_len, "Script_Extensions") || same(text, key_len, "scx"))
			return script("scx", equals + 1, rest, name_out);
		return false;
	}
	for (size_t i = 0; i < sizeof binary / sizeof binary[0]; i++) {
		if (!same(text, len, binary[i]))
			continue;
		snprintf(name_out, PATTERN_PROPERTY_MAX, "%s", binary[i]);
		return true;
	}
	return category(text, len, name_out);
}
