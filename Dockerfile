# The wheels are built once; the image that runs has neither compiler nor pip's cache.
FROM python:3.11-slim-bookworm AS build
COPY requirements.txt .
RUN python -m venv /venv && /venv/bin/pip install --no-cache-dir -r requirements.txt

FROM python:3.11-slim-bookworm
# For `backup` and `restore` on PostgreSQL.
RUN apt-get update \
    && apt-get install -y --no-install-recommends postgresql-client \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --create-home flashcards \
    && install -d -o flashcards -g flashcards /data
COPY --from=build /venv /venv
WORKDIR /app
COPY . .
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 DATA_DIR=/data
USER flashcards
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen('http://127.0.0.1:' + os.environ.get('PORT', '8000') + '/readyz', timeout=4)"]
# Inside a container every address is the container's own; what is published decides who may come.
CMD ["python", "manage.py", "serve", "--host", "0.0.0.0"]
