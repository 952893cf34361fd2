// One learner's session through a client, whichever it is: `call(name, arguments)` gives the tool's result.
// Prints what it saw as one line of JSON for the test to judge.

import { randomUUID } from 'node:crypto';

export const [, , url, key, mode, extensions] = process.argv;
export const capabilities = extensions ? { extensions: JSON.parse(extensions) } : {};
export const clientInfo = { name: 'node-journey', version: '1.0.0' };
export const requestInit = { headers: { Authorization: `Bearer ${key}` } };

async function study(call) {
    const data = async (name, args) => {
        const result = await call(name, args);
        if (result.isError) throw new Error(`${name}: ${result.content[0].text}`);
        return result.structuredContent.data;
    };
    const [workspace] = (await data('list_workspaces', {})).workspaces;
    const workspaceId = workspace.workspaceId;
    const guide = (await data('get_guide', { topic: 'review_flow' })).guide;
    const tag = `tag-${randomUUID()}`;
    const sql = `INSERT INTO cards (front_text, back_text, tags) VALUES ('Перу?', 'Лима', ('${tag}'))`;
    const made = await data('sql_execute', { sql, workspaceId });
    const read = await data('sql_query', { sql: `SELECT * FROM cards WHERE tags OVERLAP ('${tag}')`, workspaceId });
    const next = await data('next_review_card', { workspaceId, tags: [tag] });
    const { cardId } = next.card;
    const answer = await data('reveal_answer', { workspaceId, cardId });
    const review = { workspaceId, cardId, reviewId: randomUUID(), rating: 'Good', reviewedTimeZone: 'Europe/Berlin' };
    const submitted = await data('submit_review', review);
    const again = await call('submit_review', review);
    return {
        guide: guide.length > 0,
        affected: made.affectedCount,
        rows: read.rows.length,
        front: next.card.frontText,
        back: answer.backText,
        state: submitted.state,
        conflict: again.isError && again.structuredContent.error.code,
        left: (await data('next_review_card', { workspaceId, tags: [tag] })).card,
    };
}

// Everything that a client without apps does here; `client` is that of either SDK.
export async function studyAndStumble(client) {
    const { tools } = await client.listTools();
    return {
        server: client.getServerVersion().name,
        tools: tools.map((tool) => tool.name),
        resources: (await client.listResources()).resources,
        study: await study((name, args) => client.callTool({ name, arguments: args })),
        unknownTool: await refusalOf(() => client.callTool({ name: 'nonsense' })),
        unknownResource: await refusalOf(() => client.readResource({ uri: 'ui://nothing' })),
    };
}

// What a host of review apps looks for; `client` is that of either SDK.
export async function lookForApps(client) {
    const launcher = 'flashcard_review_session';
    const uri = 'ui://flashcards/review-v1.html';
    const { tools } = await client.listTools();
    return {
        tools: tools.map((tool) => tool.name),
        page: tools.find((tool) => tool.name === launcher)?._meta.ui.resourceUri ?? null,
        resources: (await client.listResources()).resources.map((resource) => resource.uri),
        extensions: client.getServerCapabilities().extensions ?? null,
        read: await refusalOf(() => client.readResource({ uri })),
        call: await refusalOf(() => client.callTool({ name: launcher, arguments: {} })),
    };
}

async function refusalOf(action) {
    try {
        await action();
        return null;
    } catch (error) {
        return { code: error.code, message: error.message };
    }
}

export function report(seen) {
    console.log(JSON.stringify(seen));
    process.exit(0);
}
