// What both TypeScript clients share: a browser that the test plays, a callback on this device, and the report.
// The packages are those of tests/mcp_bridge/node; NODE_MODULES says where they are.

import { createServer } from 'node:http';
import { once } from 'node:events';

export const modules = process.env.NODE_MODULES;
export const url = new URL(process.argv[2]);
export const mode = process.argv[3];
export const clientInfo = { name: 'oauth-test', version: '1' };

const callbacks = createServer((request, response) => {
    response.end('You can close this window.');
    const asked = new URL(request.url, 'http://127.0.0.1');
    if (asked.pathname === '/callback') callbacks.emit('answer', asked.searchParams);
});
callbacks.listen(0, '127.0.0.1');
await once(callbacks, 'listening');

/** Keeps everything in memory; the browser is whoever reads this program's first line. */
export class Provider {
    redirectUrl = `http://127.0.0.1:${callbacks.address().port}/callback`;
    authorizations = 0;
    clientMetadata = {
        client_name: `TypeScript ${mode || 'SDK'}`,
        redirect_uris: [this.redirectUrl],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
    };
    state() {
        return 'state-of-this-client';
    }
    clientInformation() {
        return this.client;
    }
    saveClientInformation(client) {
        this.client = client;
    }
    tokens() {
        return this.held;
    }
    saveTokens(tokens) {
        this.held = tokens;
    }
    saveCodeVerifier(verifier) {
        this.verifier = verifier;
    }
    codeVerifier() {
        return this.verifier;
    }
    redirectToAuthorization(address) {
        this.authorizations += 1;
        this.answer = once(callbacks, 'answer');
        console.log(JSON.stringify({ authorize: String(address) }));
    }
}

/** Authorizes on first need, calls a tool, loses the access token, and calls again: only a refresh can help then. */
export async function journey(connect, Unauthorized) {
    const provider = new Provider();
    let finish;
    try {
        await connect(provider, (transport) => (finish = transport));
        throw new Error('the server let a stranger in');
    } catch (error) {
        if (!(error instanceof Unauthorized)) throw error;
    }
    const [answer] = await provider.answer;
    if (answer.get('state') !== provider.state()) throw new Error('the state did not come back');
    await finish.finishAuth(answer);
    const client = await connect(provider, () => {});
    const call = async () => {
        const result = await client.callTool({ name: 'list_workspaces', arguments: {} });
        return result.structuredContent.data.workspaces.map((workspace) => workspace.name);
    };
    const first = await call();
    const before = { ...provider.held };
    provider.held = { ...provider.held, access_token: 'fco_lost' };
    const second = await call();
    await client.close();
    callbacks.close();
    callbacks.closeAllConnections();
    console.log(
        JSON.stringify({
            clientId: provider.client.client_id.slice(0, 4),
            scope: before.scope,
            first,
            second,
            authorizations: provider.authorizations,
            rotated: provider.held.refresh_token !== before.refresh_token && provider.held.access_token !== 'fco_lost',
        }),
    );
}
