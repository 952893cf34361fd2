from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0001_initial'),
    ]

    operations = [
        migrations.RenameField(model_name='sendlog', old_name='mailed', new_name='new_code'),
    ]
