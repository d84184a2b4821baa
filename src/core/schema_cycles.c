/* schema_cycles.c: a schema that applies itself to the very value it is applied to, by whatever
 * way round, has no verdict. Depth first, without recursion, over the keywords that apply schemas
 * to the value itself. A $dynamicRef may lead to each dynamic anchor of its name. */
#include "core/schema_private.h"

struct edge {
	uint32_t to;
	const struct schema_part *part;
};

/* Nodes, and behind them one for each dynamic name. The edges of i: from first[i] to first[i + 1].
 */
struct graph {
	uint32_t *first;
	struct edge *edges;
	uint32_t *next;	 /* of those on the way: the edge to be looked at next */
	uint32_t *stack; /* the way from where the search began */
	bool *seen, *on_way;
};

static bool stays(enum schema_keyword keyword)
{
	return keyword >= KEYWORD_REF && keyword <= KEYWORD_DEPENDENT;
}

/* Adds what leads on from a node; without `edges` it only counts. */
static uint32_t node_edges(const struct schema *schema, const struct schema_node *node,
			   struct edge *edges)
{
	uint32_t count = 0;

	for (size_t i = 0; i < node->parts_len; i++) {
		const struct schema_part *part = &node->parts[i];

		if (!stays(part->keyword) || (node->ref_only && part->keyword != KEYWORD_REF))
			continue;
		for (size_t j = 0; j < part->count; j++) {
			if (!part->nodes[j])
				continue;
			if (edges)
				edges[count] = (struct edge){ part->nodes[j]->id, part };
			count++;
		}
		if (part->keyword == KEYWORD_DYNAMIC_REF && part->dynamic) {
			if (edges)
				edges[count] = (struct edge){ (uint32_t)schema->nodes_len +
								      part->dynamic->dynamic_name,
							      part };
			count++;
		}
	}
	return count;
}

static bool graph_make(struct schema_compile *in, struct graph *graph, size_t len)
{
	const struct schema *schema = in->schema;
	size_t nodes = schema->nodes_len;

	graph->first = schema_alloc(in, len + 2, sizeof *graph->first);
	graph->next = schema_alloc(in, len, sizeof *graph->next);
	graph->stack = schema_alloc(in, len, sizeof *graph->stack);
	graph->seen = schema_alloc(in, len, sizeof *graph->seen);
	graph->on_way = schema_alloc(in, len, sizeof *graph->on_way);
	if (in->no_memory)
		return false;
	for (size_t i = 0; i < nodes; i++)
		graph->first[i + 1] = graph->first[i] + node_edges(schema, schema->nodes[i], NULL);
	graph->edges =
		schema_alloc(in, graph->first[nodes] + in->dynamic_len, sizeof *graph->edges);
	if (!graph->edges)
		return false;
	for (size_t i = 0; i < nodes; i++)
		node_edges(schema, schema->nodes[i], graph->edges + graph->first[i]);
	/* The anchors are sorted by name, so those of one name are neighbours. */
	for (size_t i = 0; i < in->dynamic_len; i++) {
		const struct schema_anchor *anchor = &schema->anchors[in->dynamic[i]];
		size_t at = graph->first[nodes] + i;

		graph->edges[at] = (struct edge){ anchor->node->id, NULL };
		graph->first[nodes + anchor->dynamic_name + 1] = (uint32_t)at + 1;
	}
	return true;
}

/* The innermost step of the cycle that belongs to a node, not to a name. */
static void tell(struct schema_compile *in, const struct graph *graph, size_t depth)
{
	uint32_t from = graph->stack[depth];

	if (from >= in->schema->nodes_len)
		from = graph->stack[depth - 1];
	const struct schema_part *part = graph->edges[graph->next[from] - 1].part;
	schema_flaw(in, in->schema->nodes[from], part->name,
		    "leads back to itself without getting deeper into the document");
}

static void search(struct schema_compile *in, struct graph *graph, uint32_t start)
{
	size_t len = 1;

	graph->stack[0] = start;
	graph->seen[start] = graph->on_way[start] = true;
	graph->next[start] = graph->first[start];
	while (len > 0) {
		uint32_t at = graph->stack[len - 1];

		if (graph->next[at] == graph->first[at + 1]) {
			graph->on_way[at] = false;
			len--;
			continue;
		}
		uint32_t to = graph->edges[graph->next[at]++].to;
		if (graph->on_way[to])
			tell(in, graph, len - 1);
		if (graph->seen[to])
			continue;
		graph->seen[to] = graph->on_way[to] = true;
		graph->next[to] = graph->first[to];
		graph->stack[len++] = to;
	}
}

void schema_cycles_refuse(struct schema_compile *in)
{
	struct graph graph = { .first = NULL };
	size_t len = in->schema->nodes_len + in->schema->dynamic_names;

	if (!graph_make(in, &graph, len))
		return;
	for (uint32_t i = 0; i < len; i++)
		if (!graph.seen[i])
			search(in, &graph, i);
}
